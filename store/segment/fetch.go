package segment

import (
	"cmp"
	"context"
	"slices"
	"unsafe"
)

const (
	// fetchGap is the largest gap in bytes between two parts that are read together:
	// reading the gap takes no longer than another request. The choice of 32 KiB lies
	// between the best for solid-state disks and for network disks.
	fetchGap = 32 << 10

	// fetchPart is how many bytes are requested at a time. Of more than a disk
	// takes in one request, the system would leave out the rest.
	fetchPart = 512 << 10
)

// Fetch has the system read bytes of the view that lie in mapped files, of filters, lines
// and ranges, and returns when they are in memory, or soon after ctx has ended. All requests are made
// before the first of them is waited for. It returns how many bytes were not in memory
// before, about; 0 where a system cannot tell. It sorts parts. It is no more than
// advice: nothing needs it, and no error is worth knowing.
func (v *View) Fetch(ctx context.Context, parts [][]byte) (missing int) {
	parts = slices.DeleteFunc(parts, func(b []byte) bool { return len(b) == 0 })
	slices.SortFunc(parts, func(a, b []byte) int { return cmp.Compare(addressOf(a), addressOf(b)) })
	v.mappings.Do(v.listMappings)
	var absent [][]byte
	for len(parts) > 0 {
		var whole []byte
		whole, parts = v.joined(parts)
		for part := range slices.Chunk(whole, fetchPart) {
			if ctx.Err() != nil {
				return missing
			}
			if n := request(part); n > 0 {
				missing += n
				absent = append(absent, part)
			}
		}
	}
	for _, part := range absent {
		if ctx.Err() != nil {
			return missing
		}
		await(part)
	}
	return missing
}

// joined returns the bytes of the first parts, up to the first gap of more than fetchGap,
// and the parts that are left. The bytes are all of the same mapping.
func (v *View) joined(parts [][]byte) (whole []byte, rest [][]byte) {
	first, start := &parts[0][0], addressOf(parts[0])
	at, _ := slices.BinarySearch(v.ends, start+1)
	if at == len(v.ends) {
		return nil, parts[1:] // of no mapping
	}
	end := start
	for len(parts) > 0 && addressOf(parts[0]) <= end+fetchGap && addressOf(parts[0]) < v.ends[at] {
		end = max(end, addressOf(parts[0])+uintptr(len(parts[0])))
		parts = parts[1:]
	}
	return unsafe.Slice(first, end-start), parts
}

// listMappings lists where the view's mappings end.
func (v *View) listMappings() {
	add := func(mem []byte) {
		if len(mem) > 0 {
			v.ends = append(v.ends, addressOf(mem)+uintptr(len(mem)))
		}
	}
	for _, r := range v.regions {
		add(r.mem)
	}
	for _, g := range v.groups {
		if g != nil {
			add(g.mem)
		}
	}
	for _, r := range v.ranges {
		if r != nil {
			add(r.mem)
		}
	}
	slices.Sort(v.ends)
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }
