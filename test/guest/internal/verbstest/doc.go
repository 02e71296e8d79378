// Package verbstest boots guests with the module test/kmod/verbstest and checks it.
package verbstest
