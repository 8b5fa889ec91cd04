"""WebShop: find the product that somebody asks for, among many, and buy it with the right options."""
