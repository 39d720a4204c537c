package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const mb = 1 << 20

// Memory is given back once after each time of work, when there is much to give.
func TestMemoryIsGivenBack(t *testing.T) {
	freed := 0
	w := memoryWatch{free: func() { freed++ }}
	for i, step := range []struct {
		now  memory
		want int
	}{
		{memory{asked: 50 * mb, held: 500 * mb}, 0},  // at work
		{memory{asked: 51 * mb, held: 24 * mb}, 0},   // little to give
		{memory{asked: 951 * mb, held: 900 * mb}, 0}, // at work
		{memory{asked: 960 * mb, held: 900 * mb}, 1},
		{memory{asked: 961 * mb, held: 900 * mb}, 1}, // no more than once
		{memory{asked: 1961 * mb, held: 900 * mb}, 1},
		{memory{asked: 1962 * mb, held: 25 * mb}, 2},
		{memory{asked: 1962*mb + 32*mb - 1, held: 900 * mb}, 2},
		{memory{asked: 1962*mb + 64*mb - 1, held: 900 * mb}, 2},
		{memory{asked: 1962*mb + 64*mb, held: 900 * mb}, 3},
	} {
		if w.look(step.now); freed != step.want {
			t.Errorf("step %d: given back %d times, want %d", i, freed, step.want)
		}
	}
	if m := readMemory(); m.asked == 0 || m.held == 0 {
		t.Errorf("the runtime says %+v", m)
	}
}

// Cache and heap fit the bound of the process, as far as their least sizes allow.
// Without a bound the cache is as large as was asked for.
func TestPlanMemory(t *testing.T) {
	for _, test := range []struct {
		cache, bound         int64
		wantCache, wantLimit int64
	}{
		{450 * mb, 0, 450 * mb, 2048 * mb},
		{8192 * mb, 0, 8192 * mb, 2048 * mb},
		{1, 0, 7 * mb / 4, 2048 * mb},
		{450 * mb, 1024 * mb, 450 * mb, (1024 - 64 - 450) * mb},
		{450 * mb, 512 * mb, 256 * mb, (512 - 32 - 256) * mb},
		{450 * mb, 64 * mb, 32 * mb, 64 * mb},
		{450 * mb, 2 * mb, 7 * mb / 4, 64 * mb},
		{450 * mb, 16384 * mb, 450 * mb, 2048 * mb},
		{10240 * mb, 16384 * mb, 8192 * mb, 2048 * mb},
	} {
		got := planMemory(test.cache, test.bound)
		if want := (memoryPlan{test.wantCache, test.wantLimit, test.bound}); got != want {
			t.Errorf("%d MiB in %d MiB: got %+v, want %+v", test.cache/mb, test.bound/mb, got, want)
		}
	}
}

// The part of -dbcache for unspent outputs, as Core's log has it for "in-memory UTXO
// set".
func TestCoinShare(t *testing.T) {
	for databases, want := range map[int64]int64{4: 7, 8: 14, 16: 28, 19: 36, 450: 4 * 440, 8192: 4 * 8182} {
		if got := coinShare(databases * mb); got != want*mb/4 {
			t.Errorf("of %d MiB: %d bytes", databases, got)
		}
	}
	if coinShare(leastDatabases) != leastCache {
		t.Error("the least cache is not that of the least -dbcache")
	}
}

// The limit is the least of the groups that the process is in, of both versions.
func TestContainerMemory(t *testing.T) {
	type files map[string]string
	for name, test := range map[string]struct {
		files files
		want  int64
	}{
		"no groups": {files{}, 0},
		"none":      {files{"proc/self/cgroup": "0::/\n"}, 0},
		"unbounded": {files{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 0},
		"in a container": {files{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 * mb},
		"above": {files{
			"proc/self/cgroup":             "0::/a/b/c\n",
			"sys/fs/cgroup/a/b/memory.max": "900\n", "sys/fs/cgroup/a/b/c/memory.max": "1000\n",
			"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/memory.max": "950\n", "sys/fs/cgroup/x/memory.max": "1\n",
		}, 900},
		"path of the host": {files{
			"proc/self/cgroup": "0::/docker/0123\n", "sys/fs/cgroup/memory.max": "77\n",
		}, 77},
		"outside": {files{"proc/self/cgroup": "0::/../../etc\n", "sys/fs/cgroup/etc/memory.max": "5\n", "etc/memory.max": "1\n"}, 5},
		"version 1": {files{
			"proc/self/cgroup": "5:cpu,cpuacct:/a\n4:hugetlb,memory:/a\n0::/\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4096\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/cpu/a/memory.limit_in_bytes":    "1\n",
		}, 4096},
		"nonsense": {files{
			"proc/self/cgroup": "0::/\nx\n:\n::\n4:memory\n", "sys/fs/cgroup/memory.max": "-5",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "12 13",
		}, 0},
	} {
		root := fstest.MapFS{}
		for path, text := range test.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := containerMemory(root); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

// The words are Core's, and so is what is too large.
func TestWarnOfCache(t *testing.T) {
	const words = "A %s MiB dbcache may be too large for a system memory of only %s MiB."
	for _, test := range []struct {
		option string
		system int64 // MiB
		asked  string
	}{
		{"", 512, ""},
		{"-dbcache=450", 512, ""},
		{"-dbcache=451", 512, "451"},
		{"-dbcache=451", 2047, "451"},
		{"-dbcache=1535", 2048, ""},
		{"-dbcache=1536", 2048, "1536"},
		{"-dbcache=-1", 1, ""},
		{"-dbcache=99999999999999999999", 24105, "17592186044415"},
		{"-dbcache=99999999999999999999", 0, ""}, // not known
	} {
		read := func(_ context.Context, s *session) error {
			want := ""
			if test.asked != "" {
				want = fmt.Sprintf(words, test.asked, strconv.FormatInt(test.system, 10))
			}
			if got := warnOfCache(s.settings, test.system*mb); got != want {
				t.Errorf("%s of %d MiB: %q, want %q", test.option, test.system, got, want)
			}
			return nil
		}
		startWith(t, read, strings.Fields(test.option)...)
	}
}

func TestSystemMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "MemTotal:       24684356 kB\nMemFree: 1 kB\n": 24684356 << 10, "MemFree: 1 kB\nMemTotal: 2 kB\n": 2048,
		"MemTotal: x kB\n": 0, "MemTotal: -1 kB\n": 0, "MemTotal: 9007199254740992 kB\n": 0, "MemTotal: 5\n": 0,
	} {
		if got := systemMemory(fstest.MapFS{"proc/meminfo": {Data: []byte(text)}}); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
	if systemMemory(fstest.MapFS{}) != 0 {
		t.Error("memory of a system that does not say")
	}
}

func FuzzContainerMemory(f *testing.F) {
	f.Add("0::/a/b\n", "max")
	f.Add("4:memory:/../x\n", "77\n")
	f.Fuzz(func(t *testing.T, groups, limit string) {
		got := containerMemory(fstest.MapFS{
			"proc/self/cgroup":         {Data: []byte(groups)},
			"sys/fs/cgroup/memory.max": {Data: []byte(limit)},
		})
		if got < 0 || got >= noLimit {
			t.Errorf("%d bytes", got)
		}
	})
}
