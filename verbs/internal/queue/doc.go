// Package queue has what the providers of several drivers need for their queues.
package queue
