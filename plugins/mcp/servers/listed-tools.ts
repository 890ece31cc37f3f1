import type { Mcp } from '../mcp.ts'
import type { ListedTool } from '../policy/listed-tool.ts'

/** The tools that servers have listed since the gateway started; undefined before any has. */
export const listedTools = (mcp: Mcp): readonly ListedTool[] | undefined => {
  const tools = mcp
    .serverStates()
    .flatMap(({ server, tools }) =>
      [...tools.names()].map((name) => ({ server_id: server.id, name, inputSchema: tools.inputSchema(name) })),
    )
  return tools.length === 0 ? undefined : tools
}
