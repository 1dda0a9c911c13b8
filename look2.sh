cd /mnt
export PATH=/work/wt46/build/bin:$PATH
F=__do_sys_getpriority
fkt_blocks --json --code $F >blocks.json
fkt_blocks --code $F | head -20
python3 -IS /work/wt46/tests/vm/paths_agree.py probes blocks.json | head -5
python3 -IS /work/wt46/tests/vm/paths_agree.py probes blocks.json | while read -r n a rest; do echo "p:paths/$n $a" >>/sys/kernel/tracing/kprobe_events; done
cat /sys/kernel/tracing/error_log | head -20
cat /sys/kernel/tracing/kprobe_events | head -3
mkdir /sys/kernel/tracing/instances/paths; ls /sys/kernel/tracing/instances/paths/events/paths
