"""What thrall can be asked to do: functions of plain values that return plain values."""
