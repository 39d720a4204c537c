package main

import (
	"errors"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// inWarmup is the code with which a server answers that is still starting.
const inWarmup = -28

// keyPlaces are the methods that pay again when they are called again, with the place of the parameter that
// prevents a second payment.
var keyPlaces = map[string]int{"send": 6, "sendall": 5, "sendmany": 10, "sendtoaddress": 11}

// repeatable reports whether a call may be made again that the server may have served already.
func repeatable(method string, params *jsontree.Value) bool {
	at, pays := keyPlaces[method]
	return !pays || argument(params, at, "idempotency_key") != ""
}

// retry makes an attempt, which returns what the server failed with; with
// -rpcwait again every second until the server is up or -rpcwaittimeout
// has passed. A call that may have reached the server is only made again if it is repeatable.
func (c *client) retry(repeatable bool, attempt func() (failure *jsontree.Value, err error)) error {
	wait := c.settings.Bool("rpcwait", false)
	limit := time.Duration(c.settings.Int("rpcwaittimeout", 0)) * time.Second
	began := time.Now()
	for {
		failure, err := attempt()
		if wait && err == nil {
			if code, notCode := failure.Get("code").AsInt32(); notCode == nil && code == inWarmup {
				err = transient("server in warmup")
			}
		}
		again := errors.As(err, new(transient)) || repeatable && errors.As(err, new(lost))
		if !wait || !again || (limit > 0 && time.Since(began) >= limit) {
			return err
		}
		c.pause(time.Second)
	}
}
