#!/bin/sh
# The main job on a real server: pin it, check it, call it. `make demo` installs both and runs this.
set -eu

environment=$1
catalog=$environment/tools.json
PATH=$PWD/$environment/bin:$PWD/$environment/server/bin:$PATH
export PATH

show() {
    printf '\n$ %s\n' "$1"
    eval "$1"
}

show "thrall pin $catalog -- mcp-server-time --local-timezone='\${ZONE:-UTC}'"
show "thrall check $catalog"
show "thrall call get_current_time timezone=Asia/Tokyo --catalog $catalog"
show "echo '{\"source_timezone\":\"Asia/Tokyo\",\"time\":\"12:00\",\"target_timezone\":\"Europe/Paris\"}' |
    thrall call convert_time --catalog $catalog |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[\"time_difference\"])'"

printf '\nThis server tells the model its timezone, so with another one its descriptions are not as pinned.\n'
printf '(*** stands for the value of ${ZONE}: what was filled in is never printed.)\n'
show "ZONE=Europe/Paris thrall check $catalog || echo \"status \$?\""
show "ZONE=Europe/Paris thrall call get_current_time timezone=UTC --catalog $catalog || echo \"status \$?\""
