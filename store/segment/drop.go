package segment

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// DropFrom forgets the filter of a block, because the filter is wrong for the block, and
// all filters appended later. It also forgets the earlier filters of the same segment.
// The tip goes back as far. Views keep what they have. Nothing may be appended, and no
// lines and no range filters be made, meanwhile.
//
// Errors: [ErrNotFound] with nothing changed, [ErrClosed], [ErrFailed], those of the file
// system.
func (s *Store) DropFrom(block *chainhash.Hash) error {
	s.rebuild.Lock()
	defer s.rebuild.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	n, ok := s.catalog.find(block)
	if !ok {
		return fmt.Errorf("drop filters from block %v on: %w", block, ErrNotFound)
	}
	return s.writing(func() error {
		if err := dropSegments(s, int(s.catalog.slots[n].segment)); err != nil {
			return fmt.Errorf("drop filters from block %v on: %w", block, err)
		}
		return nil
	})
}

// dropSegments drops segments, from one on. The records go first: files that none names are removed by
// Open, and a tip without its ancestors gives way.
func dropSegments(s *Store, segment int) error {
	old := s.catalog
	dropped := old.segments[segment:]
	s.seal()
	if err := s.keys.cut(position{dropped[0].number, 0}); err != nil {
		return err
	}
	kept := old
	kept.truncate(dropped[0].first)
	height := slices.IndexFunc(old.active, func(slot uint32) bool { return int(slot) >= dropped[0].first })
	if height < 0 {
		height = len(old.active)
	}
	kept.active = slices.Clone(old.active[:height])
	group := dropped[0].first / groupSize
	s.mu.Lock()
	s.catalog = kept
	regions, groups, ranges := cutOff(&s.regions, segment), cutOff(&s.groups, group), cutOff(&s.ranges, group)
	s.mu.Unlock()
	for _, r := range regions {
		r.release()
	}
	for _, g := range groups {
		g.release()
	}
	for _, r := range ranges {
		r.release()
	}
	if end := kept.end(); end.compare(s.synced) < 0 {
		s.synced = end
	}
	tip := kept.tip()
	if err := s.setTip(&tip, nil); err != nil {
		return err
	}
	var paths []string
	for _, info := range dropped {
		paths = append(paths, segmentPath(s.dir, info.number))
	}
	for n := group; n*groupSize < len(old.slots); n++ {
		paths = append(paths, linesPath(s.dir, n), rangePath(s.dir, n))
	}
	for _, path := range paths {
		if err := s.fs.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// cutOff cuts a list, in a copy, because views hold the old one, and returns the rest.
func cutOff[T any](list *[]*T, n int) (rest []*T) {
	if n >= len(*list) {
		return nil
	}
	rest = (*list)[n:]
	*list = slices.Clone((*list)[:n])
	return rest
}
