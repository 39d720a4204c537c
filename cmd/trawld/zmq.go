package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/actors/notify/zmqsink"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
)

// publication is an option that has a topic published, in the order in which messages of the
// same event are.
type publication struct{ option, hwm, topic string }

// publications reads what is to be published.
func publications(o *options.Settings) ([]trawl.Publication, error) {
	var list []trawl.Publication
	for _, p := range []publication{
		{"zmqpubhashblock", "zmqpubhashblockhwm", "hashblock"},
		{"zmqpubhashtx", "zmqpubhashtxhwm", "hashtx"},
		{"zmqpubrawblock", "zmqpubrawblockhwm", "rawblock"},
		{"zmqpubrawtx", "zmqpubrawtxhwm", "rawtx"},
		{"zmqpubsequence", "zmqpubsequencehwm", "sequence"},
	} {
		for _, address := range o.Strings(p.option) {
			path, isPath := strings.CutPrefix(address, "unix:")
			if _, _, ok := options.SplitHostPort(address); !ok && !isPath {
				return nil, refuse("Invalid port specified in -%s: '%s'", p.option, address)
			}
			if isPath {
				address = "ipc://" + path
			}
			hwm := int(o.Int(p.hwm, zmqsink.DefaultHWM))
			if hwm < 0 {
				hwm = zmqsink.DefaultHWM
			}
			list = append(list, trawl.Publication{Topic: "pub" + p.topic, Address: address, HWM: hwm})
		}
	}
	return list, nil
}

// openPublisher begins to publish what the options ask for. An address that cannot be had
// ends the start. A text that is no address at all does not, as in Core: nothing is
// published then, which the log and a warning of the node say.
func (s *session) openPublisher() error {
	list, err := publications(s.settings)
	if err != nil || len(list) == 0 {
		return err
	}
	cfg := zmqsink.Config{Log: s.log.With("category", "zmq")}
	for _, p := range list {
		topic := strings.TrimPrefix(p.Topic, "pub")
		if topic == "sequence" && s.attached != nil {
			return refuse("-zmqpubsequence is not possible with -attach: " +
				"only the attached node knows the order of the changes of its memory pool")
		}
		if !strings.Contains(p.Address, "://") {
			const nowhere = "Nothing is published by ZeroMQ: -zmq%s=%s is no address"
			corelog.Printf(s.log, slog.LevelError, nowhere, p.Topic, p.Address)
			s.warnings = append(s.warnings, fmt.Sprintf(nowhere, p.Topic, p.Address))
			return nil
		}
		cfg.Topics = append(cfg.Topics, zmqsink.Topic{Name: topic, Address: p.Address, HWM: p.HWM})
	}
	publisher, err := zmqsink.Open(cfg)
	if err != nil {
		return refuse("Nothing can be published by ZeroMQ: %v", err)
	}
	s.publisher, s.published = publisher, list
	return nil
}

// closePublisher ends what openPublisher began.
func (s *session) closePublisher() error {
	if s.publisher == nil {
		return nil
	}
	return s.publisher.Close()
}
