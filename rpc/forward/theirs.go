package forward

import (
	"context"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// theirs is what is known of methods of Core's that this node may lack: without it nothing would be, and they would
// be passed on for few logins.
var theirs = map[string]*command.Command{
	"getmempoolcluster":        {Name: "getmempoolcluster", About: command.State, Effect: command.Reads},
	"getmempoolfeeratediagram": {Name: "getmempoolfeeratediagram", About: command.State, Effect: command.Reads},
	"getprivatebroadcastinfo":  {Name: "getprivatebroadcastinfo", About: command.State, Effect: command.Reads},
	"abortprivatebroadcast":    {Name: "abortprivatebroadcast", About: command.State},
}

// withHelp is the node's help, or that of Core about a method that only Core has.
func (f *Forwarder) withHelp(
	ctx context.Context, caller command.Caller, c *command.Command, params *jsontree.Value, own any,
) any {
	method, err := argument(params, 0, "command").AsString()
	_, fromCore := caller.Login.(coreLogin)
	if err != nil || f.own.Load().Lookup(method) != nil || !f.Mode.delegates(c, fromCore) {
		return own
	}
	if _, isText := own.(string); !isText || method == "" {
		return own
	}
	text, err := jsontree.Parse(f.briefly(ctx, caller, c.Name, jsontree.NewArray(jsontree.NewString(method))))
	if err != nil || text.Kind() != jsontree.String {
		return own
	}
	return text.Text()
}
