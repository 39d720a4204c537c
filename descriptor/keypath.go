package descriptor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// keyPath is a list of BIP32 child numbers, of which one may differ between
// the branches of a multipath descriptor (BIP389).
type keyPath struct {
	steps    []uint32
	multiAt  int      // place in steps that the alternatives fill
	branched []uint32 // alternatives, one for each branch; none: all the same
}

// branches is the number of alternatives, or 1.
func (p *keyPath) branches() int { return max(1, len(p.branched)) }

// of returns the child numbers of one branch.
func (p *keyPath) of(branch int) []uint32 {
	if p.branched == nil {
		return p.steps
	}
	steps := slices.Clone(p.steps)
	steps[p.multiAt] = p.branched[branch]
	return steps
}

// hardened reports whether a step is hardened on any branch.
func (p *keyPath) hardened() bool {
	isHardened := func(step uint32) bool { return step&hdkey.Hardened != 0 }
	return slices.ContainsFunc(p.steps, isHardened) || slices.ContainsFunc(p.branched, isHardened)
}

// pathParser reads the steps of one key expression and notes which marker of
// hardened steps came last, because all hardened steps are printed with the
// last marker.
type pathParser struct {
	apostrophe bool
}

// parse reads steps, which are the parts between slashes.
func (r *pathParser) parse(parts []string, multipath bool) (path keyPath, err error) {
	for _, part := range parts {
		if len(part) > 0 && part[0] == '<' && part[len(part)-1] == '>' {
			if err := r.parseMultipath(&path, part, multipath); err != nil {
				return path, err
			}
			continue
		}
		step, err := r.parseStep(part)
		if err != nil {
			return path, err
		}
		path.steps = append(path.steps, step)
	}
	return path, nil
}

func (r *pathParser) parseMultipath(path *keyPath, part string, allowed bool) error {
	if !allowed {
		return failf("Key path value '%s' specifies multipath in a section where multipath is not allowed", part)
	}
	if path.branched != nil {
		return failf("Multiple multipath key path specifiers found")
	}
	values := strings.Split(part[1:len(part)-1], ";")
	if len(values) < 2 {
		return failf("Multipath key path specifiers must have at least two items")
	}
	seen := make(map[uint32]bool, len(values))
	for _, value := range values {
		step, err := r.parseStep(value)
		if err != nil {
			return err
		}
		if seen[step] {
			return failf("Duplicated key path value %d in multipath specifier", step)
		}
		seen[step] = true
		path.branched = append(path.branched, step)
	}
	path.multiAt = len(path.steps)
	path.steps = append(path.steps, 0)
	return nil
}

func (r *pathParser) parseStep(text string) (uint32, error) {
	number, hardened := text, uint32(0)
	if n := len(text); n > 0 && (text[n-1] == '\'' || text[n-1] == 'h') {
		number, hardened = text[:n-1], hdkey.Hardened
		r.apostrophe = text[n-1] == '\''
	}
	step, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, failf("Key path value '%s' is not a valid uint32", number)
	}
	if step > MaxIndex {
		return 0, failf("Key path value %d is out of range", step)
	}
	return uint32(step) | hardened, nil
}

// wildcard says what a final * in a key expression stands for.
type wildcard int

const (
	noWildcard wildcard = iota
	unhardenedWildcard
	hardenedWildcard
)

// cutWildcard takes a wildcard off the end of the parts.
func (r *pathParser) cutWildcard(parts []string) ([]string, wildcard) {
	if len(parts) == 0 {
		return parts, noWildcard
	}
	last := len(parts) - 1
	switch parts[last] {
	case "*":
		return parts[:last], unhardenedWildcard
	case "*h", "*'":
		r.apostrophe = parts[last] == "*'"
		return parts[:last], hardenedWildcard
	}
	return parts, noWildcard
}

// appendPath prints steps as /1/2h, with the given marker of hardened steps.
func appendPath(dst []byte, steps []uint32, marker byte) []byte {
	for _, step := range steps {
		dst = append(dst, '/')
		dst = strconv.AppendUint(dst, uint64(step&^hdkey.Hardened), 10)
		if step&hdkey.Hardened != 0 {
			dst = append(dst, marker)
		}
	}
	return dst
}

// appendWildcard prints the wildcard, if there is one.
func appendWildcard(dst []byte, w wildcard, marker byte) []byte {
	switch w {
	case unhardenedWildcard:
		return append(dst, "/*"...)
	case hardenedWildcard:
		return append(append(dst, "/*"...), marker)
	default:
		return dst
	}
}
