package main

import (
	"errors"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
)

// inWarmup is the code with which a server answers that is still starting.
const inWarmup = -28

// retry makes a call, with -rpcwait again every second until the server is up
// or -rpcwaittimeout has passed.
func retry(s *options.Settings, pause func(time.Duration), call func() (*jsontree.Value, error)) (*jsontree.Value, error) {
	wait := s.Bool("rpcwait", false)
	limit := time.Duration(s.Int("rpcwaittimeout", 0)) * time.Second
	began := time.Now()
	for {
		reply, err := call()
		if wait && err == nil {
			if code, notCode := reply.Get("error").Get("code").AsInt32(); notCode == nil && code == inWarmup {
				err = transient("server in warmup")
			}
		}
		if err == nil || !wait || !errors.As(err, new(transient)) || (limit > 0 && time.Since(began) >= limit) {
			return reply, err
		}
		pause(time.Second)
	}
}
