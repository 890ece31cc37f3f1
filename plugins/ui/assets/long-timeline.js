/** Shows the rows of a long run. */
export const longTimeline = () => {}
