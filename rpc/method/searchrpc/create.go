package searchrpc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// maxName is how many bytes a name may have.
const maxName = 200

var objectsParam = command.Param{
	Name: "scanobjects", Type: command.Array, Usage: "[scanobjects,...]", Secret: true,
	Help: "what to look for: descriptors, alone or in an object. Private keys are not kept",
	Inner: []command.Param{
		{Name: "descriptor", Type: command.String, Optional: true, Help: "an output descriptor"},
		{
			Type: command.Object, Optional: true, Help: "a descriptor with the indices to derive",
			Inner: []command.Param{
				{Name: "desc", Type: command.String, Help: "an output descriptor"},
				{Name: "range", Type: command.Range, Default: "1000", Help: "last index, or first and last"},
				arg.GapParam,
			},
		},
	},
}

func createSearch(d *Deps) command.Command {
	return command.Command{
		Name: "createsearch", Category: command.Blockchain,
		About: command.Filters, Own: true,
		Summary: "Makes a search for what a set of output scripts received and spent. It runs beside others, is " +
			"kept on the " +
			"disk,\nand goes on where it was when the node is started again (needs the block filter index).",
		Params: []command.Param{
			objectsParam,
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Help: "of the search",
				Inner: []command.Param{
					{
						Name: "name", Type: command.String, Default: "the id",
						Help: "up to 200 bytes. Where a search has the name and is of the same, it is that one",
					},
					{
						Name: "start_height", Type: command.Number, Default: "0",
						Help: "height of the first block; by default the least that all descriptors are annotated\n" +
							"with (bh, BIP393)",
					},
					{
						Name: "stop_height", Type: command.Number, Default: "height of the tip",
						Help: "height of the last block",
					},
					{Name: "follow", Type: command.Bool, Default: "false", Help: "go on with new blocks"},
					{
						Name: "mempool", Type: command.Bool, Default: "false",
						Help: "tell of unconfirmed payments and spends as well, as of this moment",
					},
					{
						Name: "entries", Type: command.Bool, Default: "true",
						Help: "false: list only the blocks that have some",
					},
				},
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "id", Help: "16 hex digits"},
			{Type: command.String, Key: "name", Help: "its name"},
			{Type: command.Bool, Key: "created", Help: "false: it was there"},
		}}},
		Examples: []string{
			`[["addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)"]]`,
			`[["addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)"], {"name": "shop", "start_height": 300000, "follow": true}]`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) { return d.create(ctx, a) },
	}
}

func (d *Deps) create(ctx context.Context, a *command.Args) (any, error) {
	q := messages.CreateSearch{Owner: a.User}
	if err := readOptions(&q, a.Value(1)); err != nil {
		return nil, err
	}
	var err error
	if q.Objects, err = d.objects(ctx, a.Value(0)); err != nil {
		return nil, err
	}
	born := false
	if q.Start < 0 {
		q.Start = arg.BirthHeight(a.Value(0))
		born = q.Start > 0
	}
	command.ReleaseWorker(ctx) // what follows waits for the disk
	made, err := ask.Ask(ctx, d.Searches, q)
	if errors.Is(err, messages.ErrBlockNotFound) {
		return nil, heightFailure(&q, born)
	}
	if err != nil {
		return nil, failure(err)
	}
	return struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Created bool   `json:"created"`
	}{made.ID, made.Name, made.Created}, nil
}

// heightFailure has the words of scanblocks. born says that the first height is that of annotations.
func heightFailure(q *messages.CreateSearch, born bool) error {
	what := "Invalid start_height"
	if born {
		what = fmt.Sprintf("Invalid height %d that the descriptors are annotated with (bh): give start_height", q.Start)
	}
	if !born && !q.Follow && q.Stop >= 0 {
		what = "Invalid start_height or stop_height"
	}
	return command.Error{Code: command.MiscError, Message: what}
}

// optionNames are those of createsearch.
var optionNames = []string{"name", "start_height", "stop_height", "follow", "mempool", "entries"}

// readOptions reads the options of a search: Start is -1 where none is given. An unknown option is refused: a search
// that does not follow because of a misspelled option would miss its purpose.
func readOptions(q *messages.CreateSearch, o *jsontree.Value) (err error) {
	q.Stop = -1
	for key := range o.Members() {
		if !slices.Contains(optionNames, key) {
			return command.Errorf(command.TypeError, "Unexpected key %s", key)
		}
	}
	if v := o.Get("name"); !v.IsNull() {
		if q.Name, err = v.AsString(); err != nil {
			return err
		}
		if len(q.Name) > maxName {
			return command.Errorf(command.InvalidParameter, "name may have up to %d bytes", maxName)
		}
	}
	if q.Start, err = height(o, "start_height", -1); err != nil {
		return err
	}
	if q.Stop, err = height(o, "stop_height", -1); err != nil {
		return err
	}
	entries := true
	for name, to := range map[string]*bool{"follow": &q.Follow, "entries": &entries, "mempool": &q.Mempool} {
		if v := o.Get(name); !v.IsNull() {
			if *to, err = v.AsBool(); err != nil {
				return err
			}
		}
	}
	q.BlocksOnly = !entries
	if q.Mempool && q.BlocksOnly {
		return command.Error{Code: command.InvalidParameter, Message: "mempool cannot be given without entries"}
	}
	if q.Follow && !o.Get("stop_height").IsNull() {
		return command.Error{Code: command.InvalidParameter, Message: "stop_height cannot be given with follow"}
	}
	return nil
}

func height(o *jsontree.Value, name string, def int32) (int32, error) {
	v := o.Get(name)
	if v.IsNull() {
		return def, nil
	}
	h, err := v.AsInt32()
	if err == nil && h < 0 {
		err = command.Error{Code: command.MiscError, Message: "Invalid " + name}
	}
	return h, err
}

// objects expands scan objects, and keeps the public form of each.
func (d *Deps) objects(ctx context.Context, list *jsontree.Value) (o messages.SearchObjects, err error) {
	if _, err := list.AsArray(); err != nil {
		return o, err
	}
	at, of := -1, (*descriptor.Descriptor)(nil) // whose text is the last
	var refused error
	//nolint:contextcheck // a single index of what widens
	err = d.Chain.Expand(ctx, list, func(object int, branch *descriptor.Descriptor, index uint32, scripts [][]byte) {
		if object != at || branch != of {
			at, of = object, branch
			text, gap, err := d.shown(list.At(object), branch, index, scripts)
			refused = cmp.Or(refused, err)
			o.Texts = append(o.Texts, text)
			if gap > 0 {
				o.Gaps = append(o.Gaps, make([]int32, len(o.Texts)-len(o.Gaps))...)
				o.Gaps[len(o.Texts)-1] = gap
			}
		}
		place := int32(-1)
		if branch != nil && branch.IsRanged() {
			place = int32(index)
		}
		for _, script := range scripts {
			o.Scripts = append(o.Scripts, messages.SearchScript{Script: script, Object: len(o.Texts) - 1, Index: place})
		}
	})
	if err == nil {
		err = refused
	}
	if o.Gaps != nil {
		o.Gaps = append(o.Gaps, make([]int32, len(o.Texts)-len(o.Gaps))...)
	}
	return o, err
}

// shown returns the text that is kept of a scan object which was read, and its gap; 0: it has none, or no range that
// could widen. With a gap the text gives the scripts of each index: it is tried with the first ones.
func (d *Deps) shown(
	v *jsontree.Value, branch *descriptor.Descriptor, index uint32, scripts [][]byte,
) (text string, gap int32, err error) {
	if branch != nil && branch.IsRanged() {
		_, annotations, _ := arg.Annotated(v)
		gap, _ = arg.Gap(v, annotations)
	}
	if gap == 0 {
		return arg.ShownText(v, branch), 0, nil
	}
	text, ok := arg.WidenedText(v, branch)
	if ok {
		branches, err := descriptor.Parse(text, d.Network.Descriptors(), descriptor.Options{})
		var same [][]byte
		if err == nil {
			same, err = branches[0].Expand(index)
		}
		ok = err == nil && slices.EqualFunc(same, scripts, bytes.Equal)
	}
	if !ok {
		text = arg.ShownText(v, branch)
		return text, 0, command.Errorf(command.InvalidParameter,
			"gap cannot be given for %s: a search keeps no private keys, without which it has no further scripts", text)
	}
	return text, gap, nil
}

func extendSearch(d *Deps) command.Command {
	return command.Command{
		Name: "extendsearch", Category: command.Blockchain,
		About: command.Filters, Own: true,
		Summary: "Adds scan objects to a search. The blocks that were looked at before are looked at for them alone.",
		Params: []command.Param{
			idParam, objectsParam,
			{
				Name: "start_height", Type: command.Number, Default: "that of the search",
				Help: "height of the first block for them; by default the least that all of them are annotated with\n" +
					"(bh, BIP393), if they are",
			},
		},
		Results:  []command.Result{fullStatusResult("the search")},
		Examples: []string{`[` + exampleID + `, ["addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)"]]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, err := a.String(0)
			if err != nil {
				return nil, err
			}
			q := messages.ExtendSearch{ID: id}
			if q.Start, err = a.Int32Or(2, -1); err != nil {
				return nil, err
			}
			if a.Has(2) && q.Start < 0 {
				return nil, command.Error{Code: command.MiscError, Message: "Invalid start_height"}
			}
			if q.Objects, err = d.objects(ctx, a.Value(1)); err != nil {
				return nil, err
			}
			if birth := arg.BirthHeight(a.Value(1)); !a.Has(2) && birth > 0 {
				q.Start = birth
			}
			command.ReleaseWorker(ctx)
			st, err := ask.Ask(ctx, d.Searches, q)
			if errors.Is(err, messages.ErrBlockNotFound) {
				return nil, heightFailure(&messages.CreateSearch{Start: q.Start, Follow: true}, !a.Has(2))
			}
			if err != nil {
				return nil, failure(err)
			}
			return Status(&st), nil
		},
	}
}
