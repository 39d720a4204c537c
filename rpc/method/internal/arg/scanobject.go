package arg

import (
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// defaultRangeEnd is the last index derived when no range is given.
const defaultRangeEnd = 1000

// A ScanObject is one descriptor with the indices to derive.
type ScanObject struct {
	Text        string
	First, Last uint32
}

// NewScanObject reads a descriptor alone, or in an object with a range. The error is what the client is
// told.
func NewScanObject(v *jsontree.Value) (ScanObject, error) {
	o := ScanObject{Last: defaultRangeEnd}
	if v.Kind() == jsontree.String {
		o.Text = v.Text()
		return o, nil
	}
	if v.Kind() != jsontree.Object {
		return o, command.Error{
			Code: command.InvalidParameter, Message: "Scan object needs to be either a string or an object",
		}
	}
	desc := v.Get("desc")
	if desc.IsNull() {
		return o, command.Error{
			Code: command.InvalidParameter, Message: "Descriptor needs to be provided in scan object",
		}
	}
	var err error
	if o.Text, err = desc.AsString(); err != nil {
		return o, err
	}
	if indices := v.Get("range"); !indices.IsNull() {
		o.First, o.Last, err = Range(indices)
	}
	return o, err
}
