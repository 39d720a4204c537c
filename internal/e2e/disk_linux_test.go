package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/vfs"
)

// A disk is an ext4 file system of its own, in a file.
type disk struct {
	t     *testing.T
	image string
	dir   string // where it is mounted
}

// newDisk mounts a disk of so many megabytes. The test is skipped where it may not,
// and where the long tests are not wanted.
func newDisk(t *testing.T, megabytes int64) *disk {
	t.Helper()
	if os.Getenv("TRAWL_SOAK") == "" {
		t.Skip("TRAWL_SOAK is not set")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a disk")
	}
	d := &disk{t: t, image: filepath.Join(t.TempDir(), "disk"), dir: filepath.Join(t.TempDir(), "mounted")}
	if err := errors.Join(
		os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, megabytes<<20), os.Mkdir(d.dir, 0o700),
	); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("no ext4 can be made: %v %s", err, out)
	}
	if err := d.mount(); err != nil {
		t.Skipf("no disk can be mounted: %v", err)
	}
	// not mounted after a failure
	t.Cleanup(func() { _ = exec.CommandContext(context.Background(), "umount", "-l", d.dir).Run() })
	return d
}

// folder makes a folder on the disk, for good.
func (d *disk) folder(name string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := errors.Join(os.Mkdir(path, 0o700), vfs.OS.SyncDir(d.dir)); err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d *disk) mount() error {
	out, err := exec.CommandContext(d.t.Context(), "mount", "-o", "loop", d.image, d.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// The call of ext4 that drops what is not on the disk, with its journal.
const (
	ext4Shutdown = 0x8004587d
	noLogFlush   = 2
)

// losePower cuts the disk off from the writes in memory, ends the daemon, and mounts
// the disk again. Writes that were not synced never reach the disk.
func (d *disk) losePower(daemon *e2e.Daemon) {
	d.t.Helper()
	root, err := os.Open(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	flag := uint32(noLogFlush)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), ext4Shutdown, uintptr(unsafe.Pointer(&flag)))
	if err := root.Close(); err != nil {
		d.t.Fatal(err)
	}
	if errno != 0 {
		d.t.Skipf("the disk cannot be cut off: %v", errno)
	}
	daemon.Kill()
	if out, err := exec.CommandContext(d.t.Context(), "umount", d.dir).CombinedOutput(); err != nil {
		d.t.Fatalf("umount: %v %s", err, out)
	}
	if err := d.mount(); err != nil {
		d.t.Fatal(err)
	}
}

// TestPowerLossWalletWrites cuts the power while a wallet is written. All
// acknowledged writes are there.
func TestPowerLossWalletWrites(t *testing.T) {
	disk := newDisk(t, 512)
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 4))
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: disk.folder("data"), Args: []string{"-keypool=5"}})
	w := newWalletWorkload(t, d)
	for range count(t, "TRAWL_SOAK", 4)/5 + 1 {
		w.cutOnce(t, random, func() { disk.losePower(d) })
		d.Restart()
		w.check(t)
	}
	d.Stop()
}

// TestPowerLossChain cuts the power while blocks are mined and deleted, with all
// indexes. The node comes up with every block that was acknowledged, and with its
// indexes.
func TestPowerLossChain(t *testing.T) {
	disk := newDisk(t, 512)
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	d := e2e.Start(t, e2e.Config{
		Chain: "regtest", Dir: disk.folder("data"),
		Args: []string{"-blockfilterindex=1", "-coinstatsindex=1", "-prune=1", "-fastprune=1"},
	})
	d.Get(nil, "generatetoaddress", 700, paidAlways)
	for range count(t, "TRAWL_SOAK", 4)/5 + 1 {
		var before chainInfo
		d.Get(&before, "getblockchaininfo")
		acknowledged := make(chan int32, 1)
		call := d.Call // of the process that is to end
		go func() { acknowledged <- mineAndPrune(call, before.Blocks) }()
		<-time.After(time.Duration(20+random.IntN(400)) * time.Millisecond)
		disk.losePower(d)
		at := <-acknowledged
		d.Restart()
		checkPruned(t, d, before.PruneHeight, at)
		var sums struct {
			Height int32 `json:"height"`
		}
		e2e.Eventually(t, time.Minute, "the sums are there", func() bool {
			return d.Call(t.Context(), &sums, "gettxoutsetinfo", "muhash") == nil && sums.Height >= at
		})
	}
	d.Stop()
}

const paidAlways = "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"

// mineAndPrune goes on until a call fails, and returns the last height that was
// acknowledged.
func mineAndPrune(call func(context.Context, any, string, ...any) error, height int32) int32 {
	for {
		var mined []string
		if call(context.Background(), &mined, "generatetoaddress", 1+rand.IntN(60), paidAlways) != nil {
			return height
		}
		height += int32(len(mined))
		if call(context.Background(), nil, "pruneblockchain", height-300) != nil {
			return height
		}
	}
}

// TestFullDisk fills the disk under a node. It says why it ends, and goes on where it
// was when there is room.
func TestFullDisk(t *testing.T) {
	disk := newDisk(t, 192) // a start wants 50 MiB free
	ballast := filepath.Join(disk.dir, "ballast")
	for round := range count(t, "TRAWL_SOAK", 4)/5 + 2 {
		dir := disk.folder(fmt.Sprint("data", round))
		d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir, Args: []string{
			"-blockfilterindex=1", "-txindex=1", "-coinstatsindex=1", "-txospenderindex=1",
		}})
		d.Get(nil, "createwallet", "w", false, false, "", false, true, true)
		d.Get(nil, "generatetoaddress", 50, paidAlways)
		fill(t, ballast, disk.dir, int64(rand.IntN(2_000_000)))
		at := int32(50)
		addresses := 0
		for {
			var mined []string
			if d.Call(t.Context(), &mined, "generatetoaddress", 1, paidAlways) != nil {
				break
			}
			at++
			if d.Call(t.Context(), nil, "getnewaddress", fmt.Sprint("label ", addresses)) == nil {
				addresses++
			}
		}
		e2e.Eventually(t, time.Minute, "the daemon ends", d.HasEnded)
		d.Kill()
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		d.Restart()
		wantHeight(t, d, at)
		var labels []string
		d.Get(&labels, "listlabels")
		if len(labels) < addresses {
			t.Errorf("%d labels of %d", len(labels), addresses)
		}
		d.Get(nil, "generatetoaddress", 3, paidAlways)
		d.Stop()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// fill writes a file that leaves so many bytes free.
func fill(t *testing.T, path, dir string, free int64) {
	t.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		t.Fatal(err)
	}
	size := int64(stat.Bfree)*stat.Bsize - free
	for { // the file system needs some of it itself
		out, err := exec.CommandContext(
			t.Context(), "fallocate", "-l", strconv.FormatInt(size, 10), path,
		).CombinedOutput()
		if err == nil {
			return
		}
		if size -= 1 << 20; size <= 0 {
			t.Fatalf("fallocate: %v %s", err, out)
		}
	}
}

// wantHeight wants a chain of at least the height that was acknowledged, and one
// block more at the most, with all that it pays.
func wantHeight(t *testing.T, d *e2e.Daemon, acknowledged int32) {
	t.Helper()
	var height, outputs int32
	d.Get(&height, "getblockcount")
	var coins struct {
		Outputs int32 `json:"txouts"`
	}
	d.Get(&coins, "gettxoutsetinfo", "none")
	if outputs = coins.Outputs; height < acknowledged || height > acknowledged+1 || outputs != height {
		t.Errorf("height %d with %d outputs, %d were acknowledged", height, outputs, acknowledged)
	}
}

// TestFileCannotGrow has each kind of file refuse to grow, one after the other, as a
// full disk may hit any file. The node ends and, without the limit, goes on where it
// was.
func TestFileCannotGrow(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("there is no prlimit")
	}
	t.Parallel()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-fastprune"}})
	d.Get(nil, "generatetoaddress", 120, paidAlways)
	d.Stop()
	d.Restart()
	at := int32(120)
	limits := []string{"blocks/blk*.dat", "blocks/rev*.dat", "chainstate/*.log"}
	for _, pattern := range limits[:min(len(limits), count(t, "TRAWL_SOAK", 2))] {
		size := newestSize(t, filepath.Join(d.NetDir, filepath.FromSlash(pattern)))
		out, err := exec.CommandContext(t.Context(), "prlimit", "--pid", strconv.Itoa(d.Pid()), "--fsize="+
			strconv.FormatInt(size, 10)).CombinedOutput()
		if err != nil {
			t.Skipf("prlimit: %v %s", err, out)
		}
		for {
			var mined []string
			if d.Call(t.Context(), &mined, "generatetoaddress", 1, paidAlways) != nil {
				break
			}
			at++
		}
		e2e.Eventually(t, time.Minute, "the daemon ends", d.HasEnded)
		// The log may have been too large itself.
		if !strings.Contains(d.Stderr(), "file too large") {
			t.Errorf("%s: the daemon does not say why: %q\n%s", pattern, d.Stderr(), d.LogTail())
		}
		d.Kill()
		d.Restart()
		wantHeight(t, d, at)
		d.Get(&at, "getblockcount")
	}
	d.Stop()
}

// newestSize returns the size of the last file of a kind.
func newestSize(t *testing.T, pattern string) int64 {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	info, err := os.Stat(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
