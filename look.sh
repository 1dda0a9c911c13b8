set -x
cd /mnt
B=/work/wt46/build/bin
export PATH=$B:$PATH
insmod ${FKT_KO%fkt.ko}fkt_calls.ko
fkt_blocks do_prlimit | head -60
cat > calls.pl <<'X'
$b = "\0" x 16; syscall(302, 0, 7, 0, $b) for 1..300; syscall(302, 0, 99, 0, $b) for 1..120; syscall(302, 999999, 7, 0, $b) for 1..50;
X
time fkt_paths do_prlimit perl calls.pl
fkt_paths --json -o rec do_prlimit perl calls.pl
fkt_print --dump rec | grep do_prlimit | head -20
for f in vfs_read path_openat ext4_file_read_iter pipe_read schedule __wake_up_common link_path_walk do_sys_poll; do fkt_paths --only $f sh -c "ls -R /usr/share >/dev/null" | head -40; done
