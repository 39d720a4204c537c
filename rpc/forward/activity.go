package forward

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// argument returns an argument by its place or its name.
func argument(params *jsontree.Value, place int, name string) *jsontree.Value {
	if params.Kind() != jsontree.Object {
		return params.At(place)
	}
	if v := params.Get(name); !v.IsNull() {
		return v
	}
	return params.Get("args").At(place)
}

const (
	activityBegin = `{"activity":[`
	activityEnd   = `]}`
)

// refuseGap refuses calls whose scan objects have a gap: Core passes it over, and its answer would look complete. A
// descriptor with annotations may have a gap, too: Core knows none.
func refuseGap(method string, params *jsontree.Value) error {
	if method != "scantxoutset" && method != "getdescriptoractivity" {
		return nil
	}
	objects := argument(params, 1, "scanobjects")
	for i := range objects.Len() {
		object := objects.At(i)
		gap := object.Kind() == jsontree.Object && !object.Get("gap").IsNull()
		if gap || method == "getdescriptoractivity" && isAnnotated(object) {
			return command.Errorf(command.InvalidParameter,
				"Bitcoin Core answers %s here, and has neither gaps nor annotations of scan objects: take scanblocks, "+
					"or for the activity in blocks alone include_mempool=false", method)
		}
	}
	return nil
}

// isAnnotated reports whether the descriptor of a scan object seems to have annotations.
func isAnnotated(object *jsontree.Value) bool {
	return strings.Contains(object.Text(), ")?") || strings.Contains(object.Get("desc").Text(), ")?")
}

// withActivity adds what happens in Core's pool to the activity in blocks, which the node
// found.
func (f *Forwarder) withActivity(
	ctx context.Context, caller command.Caller, c *command.Command, params *jsontree.Value, own any,
) (any, error) {
	if wanted := argument(params, 2, "include_mempool"); !wanted.IsNull() {
		if on, err := wanted.AsBool(); err != nil || !on {
			return own, err
		}
	}
	if _, fromCore := caller.Login.(coreLogin); !f.Mode.delegates(c, fromCore) {
		return nil, refusal(c.Name, true)
	}
	scripts := argument(params, 1, "scanobjects")
	request := jsontree.NewArray(jsontree.NewArray(), scripts, jsontree.NewBool(true))
	theirs, err := f.Forward(ctx, caller, c.Name, request)
	if err != nil {
		return nil, err
	}
	list, err := activities(theirs)
	if err != nil {
		return nil, err
	}
	ours, err := activities(own)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, len(ours)+len(list)+len(activityBegin)+len(activityEnd)+1)
	text = append(append(text, activityBegin...), ours...)
	if len(ours) > 0 && len(list) > 0 {
		text = append(text, ',')
	}
	return result(append(append(text, list...), activityEnd...)), nil
}

// activities returns the elements of the list in a result of getdescriptoractivity.
func activities(of any) ([]byte, error) {
	text, err := jsontree.Append(nil, of)
	if err != nil {
		return nil, err
	}
	list, begins := bytes.CutPrefix(text, []byte(activityBegin))
	list, ends := bytes.CutSuffix(list, []byte(activityEnd))
	if !begins || !ends {
		return nil, errReply
	}
	return list, nil
}
