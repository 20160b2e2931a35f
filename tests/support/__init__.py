"""What the tests stand on: private servers, the commands under test, readers of what both leave."""
