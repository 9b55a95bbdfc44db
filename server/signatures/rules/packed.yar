import "pe"

/*
  Programs that are packed or oddly built. Honest software does this too: suspicious only.
*/

rule Packed_PE_UPX
{
  meta:
    description = "A Windows program compressed with a common packer; by itself this means little."
    severity = "low"
    reference = "https://attack.mitre.org/techniques/T1027/002/"
    verdict = "suspicious"
    family = "packed"
    threat = "Packed.Windows.UPX"
  condition:
    pe.is_pe and for any s in pe.sections : (s.name == "UPX0") and for any s in pe.sections : (s.name == "UPX1")
}

rule Packed_ELF_UPX
{
  meta:
    description = "A Linux program compressed with a common packer; by itself this means little."
    severity = "low"
    reference = "https://attack.mitre.org/techniques/T1027/002/"
    verdict = "suspicious"
    family = "packed"
    threat = "Packed.Linux.UPX"
  strings:
    $mark = "UPX!"
    $info = "$Info: This file is packed with the UPX"
    $id = "$Id: UPX "
  condition:
    uint32(0) == 0x464c457f and $mark in (0..1024) and any of ($info, $id)
}

rule Packed_PE_Protector
{
  meta:
    description = "A Windows program wrapped by a protector that hides its code; games and paid software do this too."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1027/002/"
    verdict = "suspicious"
    family = "packed"
    threat = "Packed.Windows.Protector"
  condition:
    pe.is_pe and for any s in pe.sections : (
      s.name == ".vmp0" or s.name == ".vmp1" or s.name == ".themida" or s.name == ".winlice" or
      s.name == ".aspack" or s.name == ".adata" or s.name == ".enigma1" or s.name == ".enigma2" or
      s.name == ".petite" or s.name == "PEC2" or s.name == ".MPRESS1" or s.name == ".nsp0" or
      s.name == ".nsp1" or s.name == ".taz" or s.name == "pec1" or s.name == ".perplex" or
      s.name == ".mew" or s.name == "MEW" or s.name == ".yP" or s.name == ".obsidium"
    )
}

rule Packed_PE_Entry_Writable
{
  meta:
    description = "A Windows program that rewrites its own code while it starts."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1027/002/"
    verdict = "suspicious"
    family = "packed"
    threat = "Packed.Windows.SelfRewriting"
  condition:
    pe.is_pe and pe.number_of_sections > 1 and for any s in pe.sections : (
      s.characteristics & 0xa0000000 == 0xa0000000 and
      s.raw_data_size == 0 and s.virtual_size > 0x4000
    ) and pe.number_of_imports < 8
}

rule Malformed_ELF_No_Sections
{
  meta:
    description = "A small Linux program stripped of everything that would describe it."
    severity = "low"
    reference = "https://attack.mitre.org/techniques/T1027/"
    verdict = "suspicious"
    family = "packed"
    threat = "Malformed.Linux.NoSections"
  condition:
    // type EXEC or DYN, no section headers at all, at most four program headers
    uint32(0) == 0x464c457f and filesize > 64 and filesize < 4MB and uint8(5) == 1 and (uint16(16) == 2 or uint16(16) == 3) and (
      (uint8(4) == 2 and uint16(60) == 0 and uint32(40) == 0 and uint32(44) == 0 and uint16(56) <= 4 and uint16(56) > 0) or
      (uint8(4) == 1 and uint16(48) == 0 and uint32(32) == 0 and uint16(44) <= 4 and uint16(44) > 0)
    )
}

rule Packed_JS_String_Array
{
  meta:
    description = "A script scrambled with a common tool so that nobody can read it."
    severity = "low"
    reference = "https://attack.mitre.org/techniques/T1027/"
    verdict = "suspicious"
    family = "packed"
    threat = "Packed.JS.StringArray"
  strings:
    $rotate = /while\(!!\[\]\)\{try\{(var|const|let) _0x[0-9a-f]{4,6}=-?parseInt\(_0x[0-9a-f]{4,6}\(/
    $push = /_0x[0-9a-f]{4,6}\[["']push["']\]\(_0x[0-9a-f]{4,6}\[["']shift["']\]\(\)\)/
  condition:
    filesize < 16MB and any of them
}
