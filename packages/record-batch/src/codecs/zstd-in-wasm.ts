/** The memory of WebAssembly never shrinks. Larger batches are rare, and are left to the code that needs none of it. */
const maxBytes = 16 * 1024 * 1024;

/** zstd's own code, compiled to WebAssembly. Returns no bytes if it cannot read them, or if they become more than the capacity. */
export type ZstdInWasm = (bytes: Uint8Array, capacityBytes: number) => Uint8Array;

/** Undefined until it is loaded, null if it cannot be. */
let loaded: ZstdInWasm | null | undefined;
let loading: Promise<ZstdInWasm | null> | undefined;

/**
 * Unpacks zstd frames that become at most `capacityBytes`. Null if this cannot be done here: because WebAssembly is being compiled, which the
 * first call begins, or cannot be had, because the batch is large, or because the frames are damaged. Whoever calls has another way then.
 */
export function unzstdInWasm(bytes: Buffer, capacityBytes: number): Buffer | null {
  if (loaded === undefined || loaded === null) {
    void loadZstdInWasm();
    return null;
  }
  // Without a capacity, the package takes as much memory as the frames claim to need.
  if (bytes.length > maxBytes || capacityBytes > maxBytes || capacityBytes === 0) {
    return null;
  }
  const output = loaded(bytes, capacityBytes);
  return output.length === 0 ? null : Buffer.from(output.buffer, output.byteOffset, output.length);
}

/** Whether it is loaded, or is known not to load. */
export function isZstdInWasmSettled(): boolean {
  return loaded !== undefined;
}

/** Resolves to null, and does not try again, if the package or WebAssembly cannot be had: in Jest without modules, or with `--jitless`. */
export function loadZstdInWasm(): Promise<ZstdInWasm | null> {
  loading ??= load()
    .catch(() => null)
    .then((outcome) => {
      loaded = outcome;
      return outcome;
    });
  return loading;
}

async function load(): Promise<ZstdInWasm> {
  const { ZSTDDecoder } = await import("zstddec");
  const decoder = new ZSTDDecoder();
  await decoder.init();
  return (bytes, capacityBytes) => decoder.decode(bytes, capacityBytes);
}
