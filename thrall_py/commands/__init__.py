"""The commands: their options and words for click, their prints for a person."""
