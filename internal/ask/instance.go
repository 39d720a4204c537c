package ask

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/ctxext"
)

// An instance is the time of an actor from its start to its end or to its next restart. It
// is kept with the context of the actor.
type instance struct{ _ byte } // instances are told apart by their addresses

var instanceID = ctxext.NextContextExtensionID()

// ExtensionID implements [ctxext.ContextExtension].
func (*instance) ExtensionID() ctxext.ContextExtensionID { return instanceID }

// extended is a context in which the instance of an actor is kept.
type extended interface {
	Get(id ctxext.ContextExtensionID) ctxext.ContextExtension
}

// instanceOf returns the instance of an actor that was spawned by [Spawn], nil for others.
func instanceOf(c extended) *instance {
	i, _ := c.Get(instanceID).(*instance)
	return i
}

// begin notes that an instance starts.
func begin(c actor.ReceiverContext) { c.Set(new(instance)) }
