package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// changedFlag is a flag that was changed.
type changedFlag struct {
	Name     string `json:"flag_name"`
	State    bool   `json:"flag_state"`
	Warnings string `json:"warnings,omitempty"`
}

// reuseWarning comes with the flag that avoids reuse: what was spent from before it was set
// is not known.
const reuseWarning = "You need to rescan the blockchain in order to correctly mark used destinations in the past. " +
	"Until this is done, some destinations may be considered unused, even if the opposite is the case."

func (m *methods) setWalletFlag() command.Command {
	return command.Command{
		Name:     "setwalletflag",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Changes a flag of the wallet.",
		Params: []command.Param{
			{
				Name: "flag", Type: command.String,
				Help: `name of the flag: "avoid_reuse" is the only one that can be changed`,
			},
			{Name: "value", Type: command.Bool, Default: "true", Help: "its new state"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "flag_name", Help: "name of the flag"},
			{Type: command.Bool, Key: "flag_state", Help: "its new state"},
			{Type: command.String, Key: "warnings", Optional: true, Help: "what a person should know"},
		}}},
		Examples: []string{`["avoid_reuse"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			name, err := a.String(0)
			if err != nil {
				return nil, err
			}
			value, err := a.BoolOr(1, true)
			if err != nil {
				return nil, err
			}
			if _, err := ask.Ask(ctx, w.ref, messages.SetWalletFlag{Flag: name, Value: value}); err != nil {
				return nil, err
			}
			shown := changedFlag{Name: name, State: value}
			if value {
				shown.Warnings = reuseWarning
			}
			return shown, nil
		}),
	}
}
