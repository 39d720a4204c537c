package arg

import (
	"math"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// defaultRangeEnd is the last index derived when no range is given.
const defaultRangeEnd = 1000

// A ScanObject is one descriptor with the indices to derive.
type ScanObject struct {
	Text        string
	First, Last uint32
	Unsealed    bool // the checksum was cut off with annotations
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

// Annotated reads a scan object as [NewScanObject] does, and cuts off the annotations of its descriptor (BIP393).
func Annotated(v *jsontree.Value) (o ScanObject, a descriptor.Annotations, err error) {
	if o, err = NewScanObject(v); err != nil {
		return o, a, err
	}
	plain, a, err := descriptor.CutAnnotations(o.Text)
	if err != nil {
		return o, a, command.Error{Code: command.InvalidAddressOrKey, Message: err.Error()}
	}
	o.Unsealed = len(plain) < len(o.Text) && strings.Contains(o.Text, "#")
	o.Text = plain
	return o, a, nil
}

// MaxGap is the largest gap of a scan object.
const MaxGap = 100_000

// GapParam is the member of a scan object that is its gap.
var GapParam = command.Param{
	Name: "gap", Type: command.Number, Optional: true, Extension: true,
	Help: "1 to 100000: widen the range until so many unused indices follow the highest used one; by default the\n" +
		"gap limit that the descriptor is annotated with (gl, BIP393)",
}

// Gap reads the gap of a scan object with annotations; 0: it has none.
func Gap(v *jsontree.Value, a descriptor.Annotations) (int32, error) {
	if v.Kind() == jsontree.Object && !v.Get("gap").IsNull() {
		gap, err := v.Get("gap").AsInt32()
		if err == nil && (gap < 1 || gap > MaxGap) {
			err = command.Errorf(command.InvalidParameter, "gap must be between 1 and %d", MaxGap)
		}
		return gap, err
	}
	if a.GapLimit == nil {
		return 0, nil
	}
	if *a.GapLimit > MaxGap {
		return 0, command.Errorf(command.InvalidParameter, "gl of a descriptor must not be above %d", MaxGap)
	}
	return int32(*a.GapLimit), nil
}

// BirthHeight returns the height from which on scan objects were paid to, as their annotations tell: 0 if one of them
// does not tell. Objects that are not well formed tell nothing.
func BirthHeight(objects *jsontree.Value) int32 {
	if objects.Kind() != jsontree.Array || objects.Len() == 0 {
		return 0
	}
	least := uint64(math.MaxInt32)
	for _, v := range objects.Elements() {
		_, a, err := Annotated(v)
		if err != nil || a.BirthHeight == nil {
			return 0
		}
		least = min(least, *a.BirthHeight)
	}
	return int32(least)
}

// BirthFailure is the error of a search or scan that ends at a height before its scan objects were paid to.
func BirthFailure(birth, stop int32) error {
	return command.Errorf(command.MiscError,
		"The descriptors are annotated with height %d (bh), which is above the last block %d: give start_height",
		birth, stop)
}
