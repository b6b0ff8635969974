package compile

// Model is the model the request names, "" when it names none.
func (d *Draft) Model() string { return d.doc.Model }
