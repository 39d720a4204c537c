package walletrpc

import (
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// An option is a member of an object of options.
type option struct {
	name string
	kind jsontree.Kind // Null: several
}

// checkOptions checks the types of options, and that there are no others. An option that
// is null passes.
func checkOptions(options *jsontree.Value, list []option) error {
	if err := checkKinds(options, list, true); err != nil {
		return err
	}
	if _, err := options.AsObject(); err != nil {
		return err
	}
	known := make(map[string]bool, len(list))
	for _, o := range list {
		known[o.name] = true
	}
	for key := range options.Members() {
		if !known[key] {
			return command.Errorf(command.TypeError, "Unexpected key %s", key)
		}
	}
	return nil
}

// checkKinds checks the types of members. The flag mayMiss says that members may be null
// or absent.
func checkKinds(object *jsontree.Value, list []option, mayMiss bool) error {
	for _, o := range list {
		v := object.Get(o.name)
		switch got := v.Kind(); {
		case v == nil && !mayMiss:
			return command.Errorf(command.TypeError, "Missing %s", o.name)
		case got == jsontree.Null && mayMiss, o.kind == jsontree.Null, got == o.kind:
		default:
			return command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", got, o.name, o.kind)
		}
	}
	return nil
}
