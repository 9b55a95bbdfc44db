// The types of WebAssembly and of the browser's pictures that the reader of codes and its packages use: Node's types have neither.
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
