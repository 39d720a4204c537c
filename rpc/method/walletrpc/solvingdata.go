package walletrpc

import (
	"encoding/hex"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// solvingData reads what is known of how to spend outputs of others.
func (m *methods) solvingData(data *jsontree.Value) (*descriptor.Known, error) {
	known := descriptor.NewKnown(m.net)
	if m.net.Restricted {
		if err := refuseKeys(data); err != nil {
			return nil, err
		}
	}
	for _, read := range []func(*jsontree.Value, *descriptor.Known) error{
		readSolvingKeys, readSolvingScripts, m.readSolvingDescriptors,
	} {
		if err := read(data, known); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// refuseKeys refuses what is of no use on chains of P2MR outputs.
func refuseKeys(data *jsontree.Value) error {
	for _, name := range []string{"pubkeys", "scripts"} {
		list, err := listIn(data, name)
		if err != nil {
			return err
		}
		if list.Len() > 0 {
			return command.Errorf(command.InvalidParameter,
				"Legacy pubkey/script solving data is disabled on this chain; use p2mr descriptors")
		}
	}
	return nil
}

// listIn returns a member that is a list; nil where it is not there.
func listIn(object *jsontree.Value, name string) (*jsontree.Value, error) {
	v := object.Get(name)
	if v == nil {
		return nil, nil
	}
	return v.AsArray()
}

// textsIn hands each text of a list on.
func textsIn(object *jsontree.Value, name string, take func(text string) error) error {
	list, err := listIn(object, name)
	if err != nil {
		return err
	}
	for _, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return err
		}
		if err := take(text); err != nil {
			return err
		}
	}
	return nil
}

func readSolvingKeys(data *jsontree.Value, known *descriptor.Known) error {
	return textsIn(data, "pubkeys", func(text string) error {
		public, err := hex.DecodeString(text)
		fault := ""
		switch {
		case err != nil || text == "":
			fault = "must be a hex string"
		case len(public) != 33 && len(public) != 65:
			fault = "must have a length of either 33 or 65 bytes"
		case !known.AddPublic(public):
			fault = "must be cryptographically valid."
		}
		if fault != "" {
			return command.Errorf(command.InvalidAddressOrKey, "Pubkey \"%s\" %s", text, fault)
		}
		return nil
	})
}

func readSolvingScripts(data *jsontree.Value, known *descriptor.Known) error {
	return textsIn(data, "scripts", func(text string) error {
		script, err := hex.DecodeString(text)
		if err != nil || text == "" {
			return command.Errorf(command.InvalidAddressOrKey, "'%s' is not hex", text)
		}
		known.AddScript(script)
		return nil
	})
}

func (m *methods) readSolvingDescriptors(data *jsontree.Value, known *descriptor.Known) error {
	return textsIn(data, "descriptors", func(text string) error {
		parsed, err := descriptor.Parse(text, m.net, descriptor.Options{RequireChecksum: true})
		if err != nil {
			return command.Errorf(command.InvalidParameter, "Unable to parse descriptor '%s': %v", text, err)
		}
		for _, d := range parsed {
			_ = known.AddDescriptor(d, 0) // nothing is known of a descriptor that cannot be expanded
		}
		return nil
	})
}
