"""How strong graders are: the share of changed answers that they notice."""
