package rest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// readRange reads which part of a block is asked for.
func readRange(r *request) (err error) {
	if r.offset, err = r.position("offset"); err == nil {
		r.size, err = r.position("size")
	}
	return err
}

// position reads a number of bytes in the query.
func (r *request) position(key string) (uint64, error) {
	text, err := r.query(key, "")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, refuse(statusBadRequest, "Block part "+key+" missing or invalid")
	}
	return n, nil
}

// blockPart answers with a part of a serialized block.
func blockPart(ctx context.Context, r *request) (Reply, error) {
	if err := checkHash(r.part); err != nil {
		return Reply{}, err
	}
	data, err := r.bytes(ctx, "getblock", jsontree.NewString(r.part), jsontree.NewInt(serialized))
	if clientText(err) == notOnDisk {
		return Reply{}, refuse(statusFailed, "I/O error reading "+r.part)
	}
	if err != nil {
		return Reply{}, r.noBlock(err)
	}
	n := uint64(len(data))
	if r.size == 0 || r.offset > n || r.size > n-r.offset {
		return Reply{}, refuse(statusBadRequest,
			fmt.Sprintf("Bad block part offset/size %d/%d for %s", r.offset, r.size, r.part))
	}
	if r.format == jsonText {
		return Reply{}, refuse(statusBadRequest, "JSON output is not supported for this request type")
	}
	return inFormat(r.format, slices.Clone(data[r.offset:r.offset+r.size])) // the block is kept no longer
}
