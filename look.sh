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
for f in vfs_read do_sys_openat2 path_openat ext4_file_read_iter vfs_write tcp_sendmsg do_syscall_64 schedule kmem_cache_alloc _copy_to_user link_path_walk __alloc_skb; do time fkt_paths --only $f ls /usr/bin >/dev/null 2>err; cat err; fkt_paths --only $f sh -c 'ls /usr/bin >/dev/null' | head -30; done
