/** Holds a group of processes to a share of one core, as if each group were a machine of its own. Linux, root. */
import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const PERIOD_US = 20_000;
const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

export class CoreShare {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Moves processes, with those that they start later, into a group without a limit. Throws where it may not. */
  static async of(name: string, pids: readonly number[]): Promise<CoreShare> {
    const folder = `${existsSync(VERSION_1) ? VERSION_1 : VERSION_2}/undertone-${process.pid}-${name}`;
    await mkdir(folder);
    for (const pid of pids) await writeFile(`${folder}/cgroup.procs`, String(pid));
    return new CoreShare(folder);
  }

  /** `share`: of one core; Infinity for no limit. */
  async limit(share: number): Promise<void> {
    const quota = share === Infinity ? null : Math.round(share * PERIOD_US);
    if (this.#folder.startsWith(`${VERSION_1}/`)) {
      await writeFile(`${this.#folder}/cpu.cfs_period_us`, String(PERIOD_US));
      await writeFile(`${this.#folder}/cpu.cfs_quota_us`, String(quota ?? -1));
    } else await writeFile(`${this.#folder}/cpu.max`, `${quota ?? 'max'} ${PERIOD_US}`);
  }

  /** Removes the group, once its processes have ended. */
  async remove(): Promise<void> {
    for (let look = 0; look < 50; look += 1) {
      const isGone = await rmdir(this.#folder).then(
        () => true,
        () => false,
      );
      if (isGone) return;
      await sleep(100);
    }
  }
}
