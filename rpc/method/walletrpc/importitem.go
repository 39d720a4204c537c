package walletrpc

import (
	"errors"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

var errNoTimestamp = command.Error{Code: command.TypeError, Message: "Missing required timestamp field for key"}

// readImport reads one descriptor to import. Members that Core would not come to
// look at, because something before them is wrong, are not looked at here either;
// what is wrong is for the wallet to say. An error ends the whole call.
func (m *methods) readImport(v *jsontree.Value) (item messages.ImportItem, err error) {
	desc := v.Get("desc")
	if item.Timestamp, err = readTimestamp(v.Get("timestamp"), desc); err != nil {
		return item, err
	}
	if desc == nil {
		item.NoDesc = true
		return item, nil
	}
	if item.Desc, err = desc.AsString(); err != nil {
		return item, err
	}
	if item.Active, err = optionalBool(v, "active"); err != nil {
		return item, err
	}
	if item.Label, err = readImportLabel(v.Get("label")); err != nil {
		return item, err
	}
	if item.Label != nil && *item.Label == "*" {
		return item, nil
	}
	if branches := m.parse(item.Desc); branches != nil {
		err = readExpansion(v, &item, len(branches) > 1, branches[0].IsRanged())
	}
	return item, err
}

// parse reads a descriptor, nil if it is none.
func (m *methods) parse(desc string) []*descriptor.Descriptor {
	branches, err := descriptor.Parse(desc, m.net, descriptor.Options{
		RequireChecksum: true, Annotations: new(descriptor.Annotations),
	})
	if err != nil {
		return nil
	}
	return branches
}

// readTimestamp reads a time. Without one a descriptor may be annotated with the height of its birth.
func readTimestamp(v, desc *jsontree.Value) (int64, error) {
	switch {
	case v == nil:
		if _, a, err := descriptor.CutAnnotations(desc.Text()); err == nil && a.BirthHeight != nil {
			return messages.BirthTimestamp, nil
		}
		return 0, errNoTimestamp
	case v.Kind() == jsontree.Number:
		return v.AsInt64()
	case v.Kind() == jsontree.String && v.Text() == "now":
		return messages.NowTimestamp, nil
	default:
		return 0, command.Errorf(command.TypeError,
			`Expected number or "now" timestamp value for key. got type %v`, v.Kind())
	}
}

// readImportLabel reads a label, nil when there is none. A null is the empty
// label, which was given.
func readImportLabel(v *jsontree.Value) (*string, error) {
	if v == nil {
		return nil, nil
	}
	if v.IsNull() {
		return new(""), nil
	}
	text, err := v.AsString()
	return &text, err
}

// readExpansion reads what says how the descriptor is to be expanded.
func readExpansion(v *jsontree.Value, item *messages.ImportItem, multipath, ranged bool) error {
	if internal := v.Get("internal"); internal != nil {
		item.Internal = new(false)
		if multipath { // an error, whatever it is
			return nil
		}
		value, err := internal.AsBool()
		if err != nil {
			return err
		}
		item.Internal = &value
	}
	if given := v.Get("range"); given != nil {
		item.Range = new([2]int64)
		if !ranged { // an error, whatever it is
			return nil
		}
		if err := readRange(given, item); err != nil || item.RangeErr != nil {
			return err
		}
	}
	if next := v.Get("next_index"); next != nil && ranged {
		index, err := next.AsInt64()
		if err != nil {
			return err
		}
		item.NextIndex = &index
	}
	return nil
}

// readRange reads a range. A range that makes no sense is an error of this
// descriptor only; a value of a wrong type ends the call.
func readRange(v *jsontree.Value, item *messages.ImportItem) error {
	first, last, err := arg.Range(v)
	if e, ok := errors.AsType[command.Error](err); ok {
		item.RangeErr = errors.New(e.Message)
		return nil
	}
	item.Range = &[2]int64{int64(first), int64(last)}
	return err
}

// optionalBool returns a member that may be absent, which is false. A null member
// is no boolean.
func optionalBool(v *jsontree.Value, key string) (bool, error) {
	member := v.Get(key)
	if member == nil {
		return false, nil
	}
	return member.AsBool()
}
