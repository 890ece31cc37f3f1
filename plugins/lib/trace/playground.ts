/** The name that calls of the Playground have for their upstream, forwarded or not, and its MCP sessions for their transport. No upstream of a configuration may have it. */
export const PLAYGROUND_UPSTREAM = 'playground'

const PROJECT = 'playground-'

/** The project of a scenario. */
export const playgroundProject = (scenario: string): string => `${PROJECT}${scenario}`
export const isPlaygroundProject = (project_id: string): boolean => project_id.startsWith(PROJECT)

/** A call, or the record of one, is of the Playground. */
export const isPlayground = ({ upstream }: { readonly upstream?: unknown }): boolean => upstream === PLAYGROUND_UPSTREAM
