import type { AgentHealth, Desired } from '@palisade/contract/agent';
import { bytesOfText } from '#files/name-text.ts';
import { everybodysFolders } from './usual-folders.ts';
import type { Watching } from './watching.ts';

type Wanted = Pick<Desired, 'is_watching' | 'watched' | 'exclusions'>;

/** Manages the watched folders: the usual folders of all users of this computer, and those that the server lists. */
export class WatchedFolders {
  readonly #watching: Watching;
  /** The folder of the agent's state, which is not watched. */
  readonly #own_folder: string;
  #wanted: Wanted | undefined;

  constructor(watching: Watching, own_folder: string) {
    this.#watching = watching;
    this.#own_folder = own_folder;
  }

  async want(wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    await this.refresh();
  }

  /** Updates the folders, to include new home folders. */
  async refresh(): Promise<void> {
    if (this.#wanted === undefined) return;
    const { is_watching, watched, exclusions } = this.#wanted;
    const folders = is_watching
      ? [...(await everybodysFolders()).map((path) => Buffer.from(path)), ...watched.map(bytesOfText)]
      : [];
    await this.#watching.want(folders, [...exclusions.map(bytesOfText), Buffer.from(this.#own_folder)]);
  }

  /** Null while watching is switched off. */
  state(): ReturnType<Watching['state']> | null {
    return this.#wanted?.is_watching === true ? this.#watching.state() : null;
  }

  health(): AgentHealth {
    return this.#watching.health(this.#wanted?.is_watching === true);
  }

  /** Stores that watching is complete up to a margin before now. */
  async note(): Promise<void> {
    if (this.state() !== null) await this.#watching.note();
  }

  close(): void {
    this.#watching.close();
  }
}
