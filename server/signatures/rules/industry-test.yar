/*
  Test strings and test files that the security industry agreed on. They are harmless.
  Written as escapes so that this file is not itself a test file.
*/

rule Test_EICAR_Standard
{
  meta:
    description = "The harmless EICAR file that everyone uses to check that an antivirus is working."
    severity = "low"
    reference = "https://www.eicar.org/download-anti-malware-testfile/"
    verdict = "infected"
    family = "industry-test"
    threat = "EICAR-Test-File"
  strings:
    // 68 bytes, then only space, tab, line feed, carriage return or Ctrl-Z, 128 bytes in all
    $eicar = /^\x58\x35\x4f\x21\x50\x25\x40\x41\x50\x5b\x34\x5c\x50\x5a\x58\x35\x34\x28\x50\x5e\x29\x37\x43\x43\x29\x37\x7d\x24\x45\x49\x43\x41\x52\x2d\x53\x54\x41\x4e\x44\x41\x52\x44\x2d\x41\x4e\x54\x49\x56\x49\x52\x55\x53\x2d\x54\x45\x53\x54\x2d\x46\x49\x4c\x45\x21\x24\x48\x2b\x48\x2a[\x20\x09\x0a\x0d\x1a]{0,60}$/
  condition:
    filesize >= 68 and filesize <= 128 and $eicar at 0
}

rule Test_EICAR_Embedded
{
  meta:
    description = "The harmless EICAR test text stands somewhere inside this file, which is not the test file itself."
    severity = "low"
    reference = "https://www.eicar.org/download-anti-malware-testfile/"
    verdict = "suspicious"
    family = "industry-test"
    threat = "EICAR-Test-Text"
  strings:
    $eicar = /\x58\x35\x4f\x21\x50\x25\x40\x41\x50\x5b\x34\x5c\x50\x5a\x58\x35\x34\x28\x50\x5e\x29\x37\x43\x43\x29\x37\x7d\x24\x45\x49\x43\x41\x52\x2d\x53\x54\x41\x4e\x44\x41\x52\x44\x2d\x41\x4e\x54\x49\x56\x49\x52\x55\x53\x2d\x54\x45\x53\x54\x2d\x46\x49\x4c\x45\x21\x24\x48\x2b\x48\x2a/
  condition:
    $eicar and (filesize > 128 or not $eicar at 0)
}

rule Test_GTUBE_Mail
{
  meta:
    description = "The harmless GTUBE test mail that everyone uses to check that a spam filter is working."
    severity = "low"
    reference = "https://spamassassin.apache.org/gtube/"
    verdict = "infected"
    family = "industry-test"
    threat = "GTUBE-Test-Mail"
  strings:
    // alone on its line, without spaces or breaks, as the definition asks
    $gtube = /(^|\n)\x58JS\*C4JDBQADN1\.NSBN3\*2IDNEN\*GTUBE\x2dSTANDARD\x2dANTI\x2dUBE\x2dTEST\x2dEMAIL\*C\.34X(\r|\n|$)/
    $header = /^(Received|Return-Path|Delivered-To|Message-I[Dd]|MIME-Version|Mime-Version|Date|From|Subject|X-[A-Z][a-z]{2,12}(-[A-Za-z]{1,20}){0,4}): /
  condition:
    filesize < 1MB and $gtube and ($gtube at 0 or $header at 0)
}

rule Test_GTUBE_Rspamd_Action
{
  meta:
    description = "A harmless test mail that checks the lesser actions of a spam filter."
    severity = "low"
    reference = "https://www.rspamd.com/doc/gtube_patterns.html"
    verdict = "infected"
    family = "industry-test"
    threat = "GTUBE-Test-Mail.Rspamd"
  strings:
    $gtube = /(^|\n)[AYZ]JS\*C4JDBQADN1\.NSBN3\*2IDNEN\*GTUBE\x2dSTANDARD\x2dANTI\x2dUBE\x2dTEST\x2dEMAIL\*C\.34X(\r|\n|$)/
    $header = /^(Received|Return-Path|Delivered-To|Message-I[Dd]|MIME-Version|Mime-Version|Date|From|Subject|X-[A-Z][a-z]{2,12}(-[A-Za-z]{1,20}){0,4}): /
  condition:
    filesize < 1MB and $gtube and ($gtube at 0 or $header at 0)
}

rule Test_AMSI_Sample
{
  meta:
    description = "A harmless script that checks whether Windows script scanning is working."
    severity = "low"
    reference = "https://learn.microsoft.com/en-us/defender-endpoint/mdav-test-amsi"
    verdict = "infected"
    family = "industry-test"
    threat = "AMSI-Test-Sample"
  strings:
    $sample = /AMSI Test Sample: ?["' +&]{0,12}7e72c3ce[-]861b[-]4339[-]8740[-]0ac1484c1386/ nocase
    $run1 = "Invoke-Expression" nocase
    $run2 = "WScript.Echo" nocase
    $run3 = "Execute" nocase fullword
  condition:
    filesize < 4KB and $sample and (any of ($run*) or $sample in (0..1)) and not uint8(0) == 0x3c
}

rule Test_ClamAV_File
{
  meta:
    description = "The harmless test program that the ClamAV project ships to check that scanning is working."
    severity = "low"
    reference = "https://packages.debian.org/stable/clamav-testfiles"
    verdict = "infected"
    family = "industry-test"
    threat = "ClamAV-Test-File"
  strings:
    $code = { BB 71 10 40 00 33 C0 50 50 8B F3 53 53 50 B0 29 40 30 04 66 AC 79 F9 BA 31 00 78 0D AD 50 FF 66 70 0E 1F BE }
    // the same code as hexadecimal text inside a rich text object
    $rtf = "bb71104000\x33c05050" nocase
  condition:
    $code or (uint32be(0) == 0x7b5c7274 and $rtf)
}
