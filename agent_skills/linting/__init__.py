"""What is wrong with Agent Skills: the rules of the standard, of vendors, and of what lies in their folders."""
