class MCPToolClient:
    pass
