"""How what was found is compared with what was wanted, apart from office documents: by the benchmark's names."""
