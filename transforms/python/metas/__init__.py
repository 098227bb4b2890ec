"""Metas for torch's own operators, as torch/_meta_registrations.py writes them."""
