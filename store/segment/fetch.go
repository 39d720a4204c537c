package segment

import (
	"cmp"
	"context"
	"slices"
	"unsafe"
)

const (
	// fetchGap is what lies between two parts and is read along with them: to read it
	// takes no longer than a request of its own. 32 KiB is between what solid-state
	// disks and what network disks can do.
	fetchGap = 32 << 10

	// fetchPart is how much is asked for at a time. More than a disk takes in one
	// request the system would leave out.
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

// joined returns the bytes from the first of the parts on up to the first gap that is not
// to be read along, all of one mapping, and the parts that are left.
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
