"""What the tools that state a node's versions and identity print, in the forms that are met in the field."""

from __future__ import annotations

FABRIC_MANAGER = """

Fabric Manager version is : 570.133.20
Build Info - Branch: rel/gpu_drv/r570/r570_00-310, Changelist: 35710000
"""
FABRIC_SERVICE = """● nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/usr/lib/systemd/system/nvidia-fabricmanager.service; enabled; preset: disabled)
     Active: active (running) since Tue 2025-03-25 02:10:15 UTC; 2h 37min ago
    Process: 2114 ExecStart=/usr/bin/nv-fabricmanager -c /usr/share/nvidia/fm.cfg (code=exited, status=0/SUCCESS)
   Main PID: 2116 (nv-fabricmanage)
      Tasks: 18 (limit: 1649170)
     CGroup: /system.slice/nvidia-fabricmanager.service
             └─2116 /usr/bin/nv-fabricmanager -c /usr/share/nvidia/fm.cfg
"""
FABRIC_FAILED = """× nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled; vendor preset: enabled)
     Active: failed (Result: exit-code) since Mon 2026-08-10 15:45:34 UTC; 5 days ago
    Process: 9940 ExecStart=/usr/bin/nv-fabricmanager (code=exited, status=1/FAILURE)

Aug 10 15:45:34 n7 nv-fabricmanager[9940]: fabric manager NVIDIA GPU driver interface version 580.127.05 doesn't \
match with driver version 580.120
"""
FABRIC_PROPERTIES = """Id=nvidia-fabricmanager.service
LoadState=loaded
ActiveState=inactive
SubState=dead
UnitFileState=disabled
"""
OFED_SHORT = "MLNX_OFED_LINUX-24.10-0.7.0.0:\n"
OFED_DOCA = "OFED-internal-25.01-0.6.0:\n"
OFED_LONG = """MLNX_OFED_LINUX-5.8-2.0.3.0 (OFED-5.8-2.0.3):

clusterkit:
mlnx_ofed_clusterkit/sources/clusterkit-1.8.428-1.58203.src.rpm

dpcp:
/sw/release/sw_acceleration/dpcp/dpcp-1.1.37-1.src.rpm
"""
ASCEND = """==> /usr/local/Ascend/driver/version.info <==
Version=24.1.rc3
ascendhal_version=7.35.23
aicpu_version=1.0
tsfw_version=1.0
Innerversion=V100R001C19SPC005B220
compatible_version=[V100R001C15],[V100R001C17],[V100R001C18],[V100R001C19]
compatible_version_fw=[7.0.0,7.5.99]
package_version=24.1.rc3

==> /usr/local/Ascend/firmware/version.info <==
Version=7.5.0.1.129
firmware_version=1.0
package_version=24.1.rc3
compatible_version_drv=[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]
"""
ASCEND_BOARD = """\tNPU ID                         : 0
\tProduct Name                   : IT21HMDB01
\tModel                          : NA
\tManufacturer                   : Huawei
\tSerial Number                  : 032XXX10N5000000
\tSoftware Version               : 25.0.rc1.1
\tFirmware Version               : 7.7.0.1.231
\tCompatibility                  : OK
\tChip Count                     : 1

\tNPU ID                         : 1
\tProduct Name                   : IT21HMDB01
\tSoftware Version               : 25.0.rc1.1
\tFirmware Version               : 7.7.0.1.220
"""
NVSWITCH_PROC = """==> /proc/driver/nvidia-nvswitch/devices/0000:07:00.0/information <==
BIOS Version: 96.10.57.00.01

==> /proc/driver/nvidia-nvswitch/devices/0000:08:00.0/information <==
BIOS Version: 96.10.3F.00.01
"""
NVSWITCH_NVOS = """Name  Actual FW          Part number                 FW source  Auto update
----  -----------------  --------------------------  ---------  -----------
ASIC  35.2014.1482       920-9K36F-00MV-JS0_IPN_Ax   default    enabled
BIOS  0ACTV_00.01.012    N/A                         default    N/A
CPLD1 CPLD000370_REV0500 N/A                         default    N/A
"""
NVSWITCH_NVOS_ONE = """                 operational                applied
---------------  -------------------------  -------
part-number      920-9K36F-00MV-JS0_IPN_Ax
actual-firmware  35.2014.1482
auto-update      enabled                    enabled
fw-source        default                    default
"""
NVSWITCH_UPDATER = """Displaying version info
Target is Orin, using Redfish
AP Name                  Sys Version                 Pkg Version   Up-To-Date
-------                  -----------                 -----------   ----------
HGX_FW_ERoT_NVSwitch_0   00.02.0134.0000_n00         N/A           No
HGX_FW_GPU_SXM_1         96.00.74.00.01              N/A           No
HGX_FW_NVSwitch_0        96.10.57.00.01              N/A           No
HGX_FW_NVSwitch_1        96.10.57.00.01              N/A           No
"""
NVSWITCH_REDFISH = """{"Members": [
  {"Id": "HGX_FW_NVSwitch_0", "Name": "Software Inventory", "Version": "96.10.57.00.01"},
  {"Id": "HGX_FW_ERoT_NVSwitch_0", "Version": "00.02.0134.0000_n00"},
  {"Id": "HGX_FW_NVSwitch_1", "Version": "96.10.57.00.01"}]}
"""
DMIDECODE = """# dmidecode 3.3
Getting SMBIOS data from sysfs.
SMBIOS 3.3.0 present.

Handle 0x0001, DMI type 1, 27 bytes
System Information
\tManufacturer: Example Computers
\tProduct Name: GPU Server 8000
\tVersion: 1.0
\tSerial Number: SYS-77-001
\tUUID: 12345678-9abc-4def-8123-456789abcdef
\tWake-up Type: Power Switch
\tSKU Number: To be filled by O.E.M.
\tFamily: Default string

Handle 0x0002, DMI type 2, 15 bytes
Base Board Information
\tManufacturer: Example Computers
\tProduct Name: X13-8GPU
\tVersion: 1.01
\tSerial Number: BRD-42-007
\tAsset Tag: Base Board Asset Tag
\tFeatures:
\t\tBoard is a hosting board
\tType: Motherboard

Handle 0x0020, DMI type 2, 15 bytes
Base Board Information
\tManufacturer: Example Computers
\tSerial Number: RISER-1
\tType: Interconnect Board
"""
DMI_FILES = """==> /sys/class/dmi/id/sys_vendor <==
Example Computers

==> /sys/class/dmi/id/product_name <==
GPU Server 8000

==> /run/snp-dmi/product_serial <==
SYS-77-001

==> /sys/class/dmi/id/board_vendor <==
Example Computers

==> /run/snp-dmi/board_serial <==
BRD-42-007

==> /sys/class/dmi/id/bios_version <==
2.4b
"""
DMI_GREP = """/sys/class/dmi/id/sys_vendor:Example Computers
/sys/class/dmi/id/product_name:GPU Server 8000
/sys/class/dmi/id/bios_version:2.4b
grep: /sys/class/dmi/id/board_serial: Permission denied
grep: /sys/class/dmi/id/product_serial: Permission denied
"""
DPKG = """Desired=Unknown/Install/Remove/Purge/Hold
| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend
|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)
||/ Name                       Version            Architecture Description
+++-==========================-==================-============-===================================
ii  bash                       5.1-6ubuntu1.1     amd64        GNU Bourne Again SHell
ii  datacenter-gpu-manager     1:3.3.5            amd64        NVIDIA Datacenter GPU Management Tools
rc  nvidia-fabricmanager-535   535.161.08-1       amd64        Fabric Manager for NVSwitch based systems.
ii  nvidia-fabricmanager-570   570.133.20-1       amd64        Fabric Manager for NVSwitch based systems.
"""
RPM = """bash-5.1.8-9.el9.x86_64
nvidia-fabric-manager-570.133.20-1.x86_64
nvidia-fabric-manager-devel-570.124.06-1.x86_64
datacenter-gpu-manager-3.3.5-1.x86_64
"""
EVERY = {
    "fabric_manager": (FABRIC_MANAGER, FABRIC_SERVICE, FABRIC_FAILED, FABRIC_PROPERTIES),
    "ofed_info": (OFED_SHORT, OFED_DOCA, OFED_LONG),
    "ascend_versions": (ASCEND, ASCEND_BOARD),
    "nvswitch_firmware": (
        NVSWITCH_PROC,
        NVSWITCH_NVOS,
        NVSWITCH_NVOS_ONE,
        NVSWITCH_UPDATER,
        NVSWITCH_REDFISH,
    ),
    "dmi": (DMIDECODE, DMI_FILES, DMI_GREP),
    "package_list": (DPKG, RPM),
}
