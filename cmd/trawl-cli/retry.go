package main

import (
	"errors"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// inWarmup is the code with which a server answers that is still starting.
const inWarmup = -28

// retry makes an attempt, which returns what the server failed with; with
// -rpcwait again every second until the server is up or -rpcwaittimeout
// has passed.
func (c *client) retry(attempt func() (failure *jsontree.Value, err error)) error {
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
		if err == nil || !wait || !errors.As(err, new(transient)) || (limit > 0 && time.Since(began) >= limit) {
			return err
		}
		c.pause(time.Second)
	}
}
