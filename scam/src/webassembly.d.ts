// Types of WebAssembly and of the browser's ImageData for the code reader and its packages, because Node's types lack them.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
}

interface ImageData {
  readonly colorSpace: string;
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}
declare var ImageData: (new (data: Uint8ClampedArray, width: number, height: number) => ImageData) | undefined;
