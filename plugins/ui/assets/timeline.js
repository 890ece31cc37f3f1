/** Makes the timeline of a run quick to use. */
export const timeline = () => {}
