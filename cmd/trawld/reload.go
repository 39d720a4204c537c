package main

import (
	"errors"
	"io"
	"log/slog"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/rpc"
)

// reload reads the configuration files again and takes up the settings that may change
// while the node runs: the log's categories, the logins and their rights, and the
// certificate. After a mistake in the files all is as it was, and the log says why.
func (s *session) reload() {
	settings, filter, err := s.readAgain()
	if err == nil {
		s.reloadAttached() // before sessions of the page are judged again
		err = s.reloadServer(settings)
	}
	if err != nil {
		text := err.Error()
		if unread, ok := errors.AsType[configError](err); ok {
			text = unread.logText()
		}
		corelog.Printf(s.log, slog.LevelError, "The configuration was not read again: %s", text)
		return
	}
	s.filter.Replace(filter)
	s.log.Info("Configuration read again: logins, whitelists, log categories, certificate")
}

// readAgain returns what the command line and the files say now.
func (s *session) readAgain() (*options.Settings, *corelog.Filter, error) {
	settings, err := parse(s.args, streams{io.Discard, io.Discard, s.home})
	if err != nil {
		return nil, nil, err
	}
	if err := configure(settings, options.OS{RegularOnly: true}); err != nil {
		return nil, nil, err
	}
	if err := options.Unreadable(settings); err != nil {
		return nil, nil, err // no reason to forget logins and whitelists
	}
	if settings.NetDir() != s.netDir {
		return nil, nil, refuse("the data directory would be %s", settings.NetDir())
	}
	filter, err := newFilter(settings)
	return settings, filter, err
}

// reloadAttached reads the logins of Bitcoin Core again.
func (s *session) reloadAttached() {
	if s.attached == nil {
		return
	}
	if err := s.attached.Reload(); err != nil {
		s.log.Error("The logins and whitelists of Bitcoin Core were not read again", "err", err)
	}
}

// reloadServer has the RPC server, if there is one, take up its part.
func (s *session) reloadServer(settings *options.Settings) error {
	server := s.serving.Load()
	if server == nil {
		return nil
	}
	cfg := accountsConfig(settings)
	return rpc.Reload(server, &cfg)
}
