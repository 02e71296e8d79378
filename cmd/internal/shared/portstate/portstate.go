// Package portstate has the names of port states.
package portstate

// Names are the names of port states.
var Names = [...]string{"???", "Down", "Initializing", "Armed", "Active"}
