package main

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// noLimit is what the first version of cgroups says, rounded down to pages, where there
// is none.
const noLimit = 1 << 62

// containerMemory returns how many bytes of memory the container of this program may use,
// 0 where nothing bounds them. The bound is the least of its own control group and the
// groups above. root is the root of the file system.
func containerMemory(root fs.FS) int64 {
	list, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(0)
	for line := range strings.Lines(string(list)) {
		mount, file, group := memoryGroup(strings.TrimSpace(line))
		if file == "" {
			continue
		}
		// In a container the path may be that of the host, of which nothing is to be seen.
		for {
			if n := groupLimit(root, path.Join(mount, group, file)); n > 0 && (least == 0 || n < least) {
				least = n
			}
			if group == "/" {
				break
			}
			group = path.Dir(group)
		}
	}
	return least
}

// systemMemory returns how many bytes of memory the system has, 0 where it does not say.
func systemMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != "MemTotal:" || words[2] != "kB" {
			continue
		}
		if n, err := strconv.ParseInt(words[1], 10, 64); err == nil && n > 0 && n < noLimit>>10 {
			return n << 10
		}
	}
	return 0
}

// memoryGroup reads a line of /proc/self/cgroup: where the groups are mounted that bound
// memory, the file that says it, and the path of the group. Other lines have no file.
func memoryGroup(line string) (mount, file, group string) {
	_, rest, _ := strings.Cut(line, ":")
	controllers, group, _ := strings.Cut(rest, ":")
	group = path.Clean("/" + group)
	if controllers == "" {
		return "sys/fs/cgroup", "memory.max", group
	}
	for name := range strings.SplitSeq(controllers, ",") {
		if name == "memory" {
			return "sys/fs/cgroup/memory", "memory.limit_in_bytes", group
		}
	}
	return "", "", ""
}

// groupLimit reads a limit, 0 where there is none.
func groupLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // not of "max"
	if err != nil || n < 0 || n >= noLimit {
		return 0
	}
	return n
}
