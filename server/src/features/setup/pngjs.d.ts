// The parts of pngjs that read and write a logo; the package has no types.
declare module 'pngjs' {
  export class PNG {
    constructor(size: { width: number; height: number });
    /** Red, green, blue and alpha of each pixel. */
    data: Buffer;
    static sync: { read(file: Buffer): PNG; write(picture: PNG): Buffer };
  }
}
