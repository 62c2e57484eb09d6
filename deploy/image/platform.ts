/** The platforms that images are made for, by the words that images, Node, Debian and ELF files have for them. */

/** As images and Debian call it. */
export type Architecture = 'amd64' | 'arm64';

interface Platform {
  /** As Node and npm call the processor. */
  cpu: 'x64' | 'arm64';
  /** In the header of ELF files. */
  machine: number;
  /** The folder in which Debian has its libraries. */
  libraries: string;
}

export const PLATFORMS: Readonly<Record<Architecture, Platform>> = {
  amd64: { cpu: 'x64', machine: 62, libraries: 'x86_64-linux-gnu' },
  arm64: { cpu: 'arm64', machine: 183, libraries: 'aarch64-linux-gnu' },
};

export const ARCHITECTURES = Object.keys(PLATFORMS) as Architecture[];

/** That of the machine that this runs on. */
export const MACHINE: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Whether programs for it find their libraries on this machine. */
export const isMachine = (architecture: Architecture): boolean =>
  process.platform === 'linux' && architecture === MACHINE;
