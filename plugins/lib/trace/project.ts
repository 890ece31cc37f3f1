import { DEFAULT_PROJECT } from '#lib/session'

/**
 * Where the project of a run is from: `named` by a writer, or `guessed` from something else, such as the name of a service.
 * Absent: the project `default` if none was named, else a named one.
 */
export type ProjectSource = 'named' | 'guessed'

/** A run, as far as it says whose it is. */
export interface ProjectOfRun {
  readonly project_id: string
  readonly given?: { readonly project?: ProjectSource }
}

/** Whether the run's project is not named, so that the first named one replaces it. */
export const isProjectReplaceable = ({ project_id, given }: ProjectOfRun): boolean =>
  given?.project === undefined ? project_id === DEFAULT_PROJECT : given.project === 'guessed'

/** Whether records that say this project may be in the run: `default` is what those say who name none. */
export const joinsProject = (run: ProjectOfRun, project_id: string): boolean =>
  run.project_id === project_id || project_id === DEFAULT_PROJECT || isProjectReplaceable(run)
