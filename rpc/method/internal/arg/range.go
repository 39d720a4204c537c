package arg

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

var errRangeForm = command.Error{
	Code: command.InvalidParameter, Message: "Range must be specified as end or as [begin,end]",
}

// Range reads a range of indices, given by its end alone or as
// [begin,end]. The error is what the client is told.
func Range(v *jsontree.Value) (first, last uint32, err error) {
	var begin, end int64
	if v.Kind() == jsontree.Number {
		if end, err = v.AsInt64(); err != nil {
			return 0, 0, err
		}
		err = descriptor.CheckRangeEnd(end)
	} else {
		if v.Kind() != jsontree.Array || v.Len() != 2 ||
			v.At(0).Kind() != jsontree.Number || v.At(1).Kind() != jsontree.Number {
			return 0, 0, errRangeForm
		}
		if begin, err = v.At(0).AsInt64(); err != nil {
			return 0, 0, err
		}
		if end, err = v.At(1).AsInt64(); err != nil {
			return 0, 0, err
		}
		err = descriptor.CheckRange(begin, end)
	}
	if err != nil {
		return 0, 0, command.Error{Code: command.InvalidParameter, Message: err.Error()}
	}
	return uint32(begin), uint32(end), nil
}
