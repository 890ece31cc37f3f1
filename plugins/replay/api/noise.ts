/** Filters that look for something in particular, which may be in a run without calls. */
const PARTICULAR = ['q', 'attribute', 'origin', 'task_id']

/** True if a list leaves out telemetry without any call, because nothing in its query asks for it. */
export const leavesNoise = (query: URLSearchParams): boolean =>
  !query.get('noise') && PARTICULAR.every((name) => !query.get(name))
